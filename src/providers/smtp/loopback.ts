/** Whether a host name or an address stays on this machine, where nobody listens in. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|(?:.+\.)?localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)\.?$/i.test(host)
}
