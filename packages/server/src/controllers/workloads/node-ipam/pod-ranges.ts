// Pod ranges of nodes: equal subnets of the cluster ranges.

import { type Cidr, containsAddress, parseCidr, sizeOfCidr } from '@cluster-apiserver/api/api/validation/network/cidr.js'
import { printIp } from '@cluster-apiserver/api/api/validation/network/ip-text.js'

export interface PodRange {
  readonly cluster: Cidr
  readonly maskBits: number
}

/** The first subnet that overlaps with no used range; undefined: all are used. */
export function freeSubnet({ cluster, maskBits }: PodRange, used: readonly string[]): string | undefined {
  const size = sizeOfCidr({ ...cluster, bits: maskBits })
  const end = cluster.first + sizeOfCidr(cluster)
  const ranges = used.flatMap((text) => parseCidr(text) ?? []).filter(({ family }) => family === cluster.family)
  // Subnets by address: a used range that is as large as a subnet or smaller takes one.
  const taken = new Set(ranges.filter(({ bits }) => bits >= maskBits).map(({ first }) => first - ((first - cluster.first) % size)))
  const larger = ranges.filter(({ bits }) => bits < maskBits)
  for (let first = cluster.first; first < end; first += size) {
    const whole = larger.find((range) => containsAddress(range, cluster.family, first))
    if (whole === undefined && !taken.has(first)) return `${printIp(first, cluster.family)}/${maskBits}`
    if (whole !== undefined) first = whole.first + sizeOfCidr(whole) - size
  }
  return undefined
}
