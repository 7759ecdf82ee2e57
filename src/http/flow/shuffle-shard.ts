// The few queues of a level among which the requests of one flow are put, so that a flow that fills its own leaves others a way around.

import { createHash } from 'node:crypto'

/** Of a flow, by its schema and what tells it from others of the schema. */
export function flowHash(schema: string, distinguisher: string): bigint {
  const digest = createHash('sha256').update(schema).update('\0').update(distinguisher).digest()
  return digest.readBigUInt64LE(0)
}

/** So many different numbers below `deckSize`, dealt like cards by a hash. */
export function dealHand(
  hash: bigint,
  { deckSize, handSize }: { readonly deckSize: number; readonly handSize: number },
): readonly number[] {
  const hand: number[] = []
  let rest = hash
  for (let i = 0; i < handSize && i < deckSize; i++) {
    const left = BigInt(deckSize - i)
    let card = Number(rest % left)
    rest /= left
    // The cards that are gone are stepped over, the lowest first.
    for (const gone of [...hand].sort((a, b) => a - b)) if (gone <= card) card++
    hand.push(card)
  }
  return hand
}
