// Blocks of base64 between a line that begins and a line that ends them, with whatever text around.

import { base64ByteLength, decodeBase64 } from '../../schema/base64.js'
import { readBytes } from '../../schema/scalars.js'

export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Uint8Array
}

const boundary = /^-----(BEGIN|END) ([^\n]*)-----[ \t\r]*$/gm

/** The well-formed blocks of a text; what is none is passed over. Line by line, so that a long text takes no more than its length. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = []
  let begin: { readonly type: string; readonly start: number } | undefined
  for (const { 0: line, 1: word, 2: type = '', index } of text.matchAll(boundary)) {
    if (word === 'BEGIN') begin = { type, start: index + line.length + 1 }
    else if (begin !== undefined) {
      const block = begin.type === type ? readBlock(type, text.slice(begin.start, index)) : undefined
      if (block !== undefined) blocks.push(block)
      begin = undefined
    }
  }
  return blocks
}

const headerLines = /^(?:[^\n:]+:[^\n]*\n)+\s*/

function readBlock(type: string, body: string): PemBlock | undefined {
  const headers = headerLines.exec(body)?.[0] ?? ''
  const base64 = readBytes(body.slice(headers.length).replace(/\s/g, ''))
  if (base64 === undefined) return undefined
  const bytes = new Uint8Array(base64ByteLength(base64))
  decodeBase64(base64, bytes)
  return { type, hasHeaders: headers !== '', bytes }
}
