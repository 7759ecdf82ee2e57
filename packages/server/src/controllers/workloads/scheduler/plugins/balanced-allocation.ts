// NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory would be used to a similar degree.

import { maxScore, type Plugin } from './plugin.js'

const resources = ['cpu', 'memory'] as const

export const balancedAllocation: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  score: ({ shape: { requests } }, _, nodes) =>
    nodes.map(({ facts, requested }) => {
      const shares: number[] = []
      for (const name of resources) {
        const capacity = facts.allocatable.get(name) ?? 0
        if (capacity > 0) shares.push(Math.min(1, ((requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / capacity))
      }
      const [cpu = 0, memory = cpu] = shares
      return Math.trunc((1 - Math.abs(cpu - memory) / 2) * maxScore)
    }),
}
