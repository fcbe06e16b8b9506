package io.fencing.access;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;

/**
 * Accounts with MyBatis.
 */
@Mapper
interface AccountMapper {

	@Select("SELECT balance FROM account WHERE id = #{id}")
	int read(String id);

	@Update("UPDATE account SET balance = #{balance} WHERE id = #{id}")
	int write(String id, int balance);

}
