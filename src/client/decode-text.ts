// Bytes in UTF-8 as a text, by the means that there are everywhere.

/** What makes a text of bytes; those that are wrong become U+FFFD. */
export type DecodeText = (bytes: Uint8Array) => string

/** Made when it is first used: where pages are only imitated, as by jsdom, there may be none. */
let decoder: InstanceType<typeof TextDecoder> | undefined

export const decodeText: DecodeText = (bytes) => {
  decoder ??= new TextDecoder()
  return decoder.decode(bytes)
}
