// How the files of settings are read: from the disk at the start, and from what was read then wherever settings are read again.

import { readFileSync } from 'node:fs'

/** Throws what the system says where a file cannot be read. */
export type ReadText = (path: string) => string

export const readFromDisk: ReadText = (path) => readFileSync(path, 'utf8')

/** Keeps what it reads: a file that changes or goes later does not change what the server does. */
export function keepingTexts(texts: Map<string, string>): ReadText {
  return (path) => {
    const text = readFromDisk(path)
    texts.set(path, text)
    return text
  }
}

export const readKept =
  (texts: ReadonlyMap<string, string>): ReadText =>
  (path) => {
    const text = texts.get(path)
    if (text === undefined) throw new Error(`${path} was not read at the start`)
    return text
  }
