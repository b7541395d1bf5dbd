/** With the separators of the language the dashboard is written in: a browser's own would mix 300.000 with 300,000. */
export const showNumber = (value: number): string => value.toLocaleString('en-GB')
