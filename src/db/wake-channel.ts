/** The channel on which "something is due" is announced. */
export const WAKE_CHANNEL = 'postrider_wake'
