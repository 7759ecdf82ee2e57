// How much memory the read cache may take on this machine: what the flag says at most, and no more than a share of what there is.

import { totalmem } from 'node:os'

const shareOfMemory = 1 / 8

export const readCacheBytesOn = (machineBytes: number, most: number): number => Math.min(most, Math.floor(machineBytes * shareOfMemory))

/** The memory of the machine, or of the container where that has less. */
export function machineBytes(): number {
  const all = totalmem()
  const constrained = process.constrainedMemory() ?? 0
  return constrained > 0 && constrained < all ? constrained : all
}
