// ImageLocality: prefers nodes that have the large images of the pod; images that many nodes have count more.

import { maxScore, type Plugin } from './plugin.js'

const megabyte = 1024 * 1024
const leastBytes = 23 * megabyte
const mostBytesPerContainer = 1000 * megabyte

export const imageLocality: Plugin = {
  name: 'ImageLocality',
  weight: 1,
  score: ({ pod }, cluster, nodes) => {
    if (cluster.nodes.every(({ facts }) => facts.images.size === 0)) return undefined
    const containers = pod.spec?.containers ?? []
    const mostBytes = mostBytesPerContainer * containers.length
    const spreads = containers.map(({ image = '' }) => {
      const name = withTag(image)
      return { name, share: cluster.nodes.filter(({ facts }) => facts.images.has(name)).length / cluster.nodes.length }
    })
    return nodes.map(({ facts }) => {
      const sum = spreads.reduce((bytes, { name, share }) => bytes + Math.trunc((facts.images.get(name) ?? 0) * share), 0)
      const bounded = Math.min(Math.max(sum, leastBytes), mostBytes)
      return Math.trunc((maxScore * (bounded - leastBytes)) / (mostBytes - leastBytes))
    })
  },
}

const withTag = (image: string): string => (image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image)
