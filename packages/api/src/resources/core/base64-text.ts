// Texts as base64 of their UTF-8, and back, with what browsers and Node have in common.

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** So many arguments a function may be called with, with room to spare. */
const chunk = 0x8000

export function encodeText(text: string): string {
  const bytes = encoder.encode(text)
  let binary = ''
  for (let i = 0; i < bytes.length; i += chunk) binary += String.fromCharCode(...bytes.subarray(i, i + chunk))
  return btoa(binary)
}

export const decodeText = (base64: string): string => decoder.decode(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0)))
