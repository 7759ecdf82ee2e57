// Bytes in UTF-8 as a text, by the means that there are everywhere.

/** What makes a text of bytes; those that are wrong become U+FFFD. */
export type DecodeText = (bytes: Uint8Array) => string

const decoder = new TextDecoder()

export const decodeText: DecodeText = (bytes) => decoder.decode(bytes)
