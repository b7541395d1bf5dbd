/** Somebody else wrote what is in it, so a browser may keep it but must not run it with our origin's rights. */
export function download(bytes: Uint8Array, contentType: string, filename: string): Response {
  const safeType = /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'application/octet-stream'
  const plain = filename.replaceAll(/[^\w.-]/g, '_')
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      'Content-Type': safeType,
      'Content-Disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encodeName(filename)}`,
      'Content-Security-Policy': "sandbox; default-src 'none'",
    },
  })
}

const encodeName = (name: string) =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
