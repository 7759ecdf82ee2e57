// Base64 of UTF-8 text with APIs that browsers and Node.js share.

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const chunkBytes = 0x8000

export function encodeText(text: string): string {
  const bytes = encoder.encode(text)
  let binary = ''
  for (let i = 0; i < bytes.length; i += chunkBytes) binary += String.fromCharCode(...bytes.subarray(i, i + chunkBytes))
  return btoa(binary)
}

export const decodeText = (base64: string): string => decoder.decode(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0)))
