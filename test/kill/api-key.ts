/** Known to the processes that accept emails and to those who call them. */
export const API_KEY = 'pk_a_key_of_the_kill_suite'
