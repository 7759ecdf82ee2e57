// NodeResourcesFit: requests must fit into what the node has left; the node with most left scores best.

import type { NodeState } from '../node-state.js'
import { maxScore, type NodePlugin } from './plugin.js'

const nativeResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage']

export const nodeResourcesFit: NodePlugin = {
  name: 'NodeResourcesFit',
  prepare: ({ shape: { requests } }) => {
    // A pod with any request, also 0 of an extended resource, fits on no node that is overcommitted in one of the native resources.
    const native = nativeResources.map((name) => [name, requests.get(name) ?? 0] as const)
    const others = [...requests].filter(([name]) => !nativeResources.includes(name))
    const isAsking = others.length > 0 || native.some(([, amount]) => amount > 0)
    const wanted = [...native, ...others.filter(([, amount]) => amount > 0)]
    return {
      filter: (node) => {
        const reasons: string[] = []
        const { allocatable, maxPods } = node.facts
        if (node.pods.size + 1 > maxPods) reasons.push('Too many pods')
        if (isAsking)
          for (const [name, amount] of wanted)
            if (amount > (allocatable.get(name) ?? 0) - (node.requested.get(name) ?? 0)) reasons.push(`Insufficient ${name}`)
        return reasons.length === 0 ? undefined : { reasons, isFinal: false }
      },
    }
  },
  weight: 1,
  score: ({ shape }, _, nodes) =>
    nodes.map((node) => {
      const cpu = leftOf(node, 'cpu', node.scoredCpu + shape.scoredCpu)
      const memory = leftOf(node, 'memory', node.scoredMemory + shape.scoredMemory)
      const known = [cpu, memory].filter((score) => score !== undefined)
      return known.length === 0 ? 0 : Math.trunc(known.reduce((sum, score) => sum + score, 0) / known.length)
    }),
}

/** Share of the resource that is left, in percent; undefined: the node has none. */
function leftOf({ facts }: NodeState, name: string, requested: number): number | undefined {
  const capacity = facts.allocatable.get(name) ?? 0
  if (capacity === 0) return undefined
  return requested > capacity ? 0 : Math.trunc(((capacity - requested) * maxScore) / capacity)
}
