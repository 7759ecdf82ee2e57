// The node ports that one write asks for: each is free, in range and not asked for twice. Nothing is taken before the write is done.

import { scan, type Taken } from './address-range.js'

export interface PortRange {
  readonly first: number
  readonly last: number
}

export interface PortSource {
  readonly range: PortRange
  readonly taken: Taken<number>
  readonly random: () => number
  readonly dryRun: boolean
}

export interface PortDraw {
  /** Asks for one port: what is wrong with it, or undefined when it is granted. */
  ask(port: number): string | undefined
  /** Any free port; undefined when there is none. */
  any(): number | undefined
  /** What was granted so far. */
  readonly granted: ReadonlySet<number>
}

const isTaken = 'provided port is already allocated'

export function drawPorts(source: PortSource): PortDraw {
  const { range, taken, random, dryRun } = source
  const granted = new Set<number>()
  const isFree = (port: number): boolean => !taken.has(port) && !granted.has(port)
  return {
    granted,
    ask(port) {
      const isInRange = port >= range.first && port <= range.last
      // A dry run promises nothing, and so does not look at the range.
      if (!isInRange && !dryRun) return `provided port is not in the valid range. The range of valid ports is ${range.first}-${range.last}`
      if (!isFree(port)) return isTaken
      granted.add(port)
      return undefined
    },
    any() {
      const port = dryRun
        ? (granted.size === 0 ? range.last : Math.max(...granted)) + 1
        : scan({ from: range.first, to: range.last + 1 }, random, (candidate) => (isFree(candidate) ? candidate : undefined))
      if (port !== undefined) granted.add(port)
      return port
    },
  }
}
