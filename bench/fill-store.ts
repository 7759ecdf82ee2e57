// Very many objects at once: copies of one that a server has made, put into its store while it is down. Through the API a million of them take
// most of an hour on a busy machine, and that is not what is measured.

import { randomUUID } from 'node:crypto'
import type { Storage, Write } from '../src/storage/storage.js'
import { say } from './report.js'

export interface Template {
  readonly key: string
  readonly name: string
  readonly uid: string
  /** Texts of the object that differ from copy to copy, with what stands for them in each; as long as they are. */
  readonly varying: readonly (readonly [text: string, of: (index: number) => string])[]
  readonly nameOf: (index: number) => string
}

export interface Copies {
  readonly template: Template
  readonly count: number
}

/** A commit to etcd has no more than 125 writes. */
const atOnce = 100
/** Commits that are under way at a time. */
const width = 16

/** How long each text stands where in an entry is found once: all copies have the same places. */
function placesOf(value: Buffer, text: string): readonly number[] {
  const places: number[] = []
  for (let at = value.indexOf(text); at !== -1; at = value.indexOf(text, at + text.length)) places.push(at)
  if (places.length === 0) throw new Error(`${text} does not stand in the template`)
  return places
}

export async function fillStore(storage: Storage, { template, count }: Copies): Promise<void> {
  await storage.readIndex()
  const entry = storage.read(template.key)
  if (entry === undefined) throw new Error(`there is no ${template.key}`)
  const { value } = entry
  const texts = [[template.name, template.nameOf] as const, [template.uid, () => randomUUID()] as const, ...template.varying]
  const places = texts.map(([text, of]) => ({ at: placesOf(value, text), of, length: text.length }))
  const copy = (index: number): Write => {
    const copied = Buffer.from(value)
    for (const { at, of, length } of places) {
      const text = of(index)
      if (text.length !== length) throw new Error(`${text} is not ${length} letters long`)
      for (const place of at) copied.write(text, place, 'latin1')
    }
    return { key: template.key.replace(template.name, template.nameOf(index)), value: copied, expect: 0 }
  }
  let told = performance.now()
  let next = 1
  const work = async (): Promise<void> => {
    while (next <= count) {
      const writes: Write[] = []
      while (writes.length < atOnce && next <= count) writes.push(copy(next++))
      const outcome = await storage.commit(writes)
      if (!outcome.ok) throw new Error(`${outcome.key} is there already`)
      if (performance.now() - told < 3000) continue
      told = performance.now()
      say(`  ${next} of ${count} objects`)
    }
  }
  await Promise.all(Array.from({ length: width }, work))
}
