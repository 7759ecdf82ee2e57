// Fills a store with copies of one stored object while the server is down. A million creates through the API would take most of an hour.

import { randomUUID } from 'node:crypto'
import type { Storage, Write } from '../packages/server/src/storage/storage.js'
import { printProgress } from './report.js'

export interface Template {
  readonly key: string
  readonly name: string
  readonly uid: string
  /** Strings that differ from copy to copy, with their replacements of the same length. */
  readonly varying: readonly (readonly [text: string, replacement: (index: number) => string])[]
  readonly nameOf: (index: number) => string
}

interface Copies {
  readonly template: Template
  readonly count: number
}

/** Below the limit of writes per commit of a store on etcd. */
const writesPerCommit = 100
const concurrentCommits = 16

/** Offsets of a string in the stored object. Found once, because they are the same in all copies. */
function offsetsOf(value: Buffer, text: string): readonly number[] {
  const offsets: number[] = []
  for (let at = value.indexOf(text); at !== -1; at = value.indexOf(text, at + text.length)) offsets.push(at)
  if (offsets.length === 0) throw new Error(`${text} is not in the template`)
  return offsets
}

export async function fillStore(storage: Storage, { template, count }: Copies): Promise<void> {
  await storage.readIndex()
  const entry = storage.read(template.key)
  if (entry === undefined) throw new Error(`there is no ${template.key}`)
  const { value } = entry
  const texts = [[template.name, template.nameOf] as const, [template.uid, () => randomUUID()] as const, ...template.varying]
  const replacements = texts.map(([text, replacement]) => ({ offsets: offsetsOf(value, text), replacement, length: text.length }))
  const copy = (index: number): Write => {
    const copied = Buffer.from(value)
    for (const { offsets, replacement, length } of replacements) {
      const text = replacement(index)
      if (text.length !== length) throw new Error(`${text} is not ${length} characters long`)
      for (const offset of offsets) copied.write(text, offset, 'latin1')
    }
    return { key: template.key.replace(template.name, template.nameOf(index)), value: copied, expect: 0 }
  }
  let loggedMs = performance.now()
  let next = 1
  const work = async (): Promise<void> => {
    while (next <= count) {
      const writes: Write[] = []
      while (writes.length < writesPerCommit && next <= count) writes.push(copy(next++))
      const outcome = await storage.commit(writes)
      if (!outcome.ok) throw new Error(`${outcome.key} exists already`)
      if (performance.now() - loggedMs < 3000) continue
      loggedMs = performance.now()
      printProgress(`  ${next} of ${count} objects`)
    }
  }
  await Promise.all(Array.from({ length: concurrentCommits }, work))
}
