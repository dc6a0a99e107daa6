/** A process that is stopped in mid-transaction would keep its locks: the server ends the transaction, and others go on. */
export const begin = "begin; set local idle_in_transaction_session_timeout = '5s'"
