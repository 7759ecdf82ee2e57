// Addresses of simulated nodes (172.18.0.0/16) and of the pods on them (the node's pod CIDR, or a /24 of 10.244.0.0/16).

const addressesPerBlock = 250
const firstInBlock = 2

/** The address of a node: by the number at the end of its name, or the next free one. */
export function nodeAddress(name: string, isUsed: (address: string) => boolean): string {
  const number = Number(/\d{1,5}$/.exec(name)?.[0] ?? '1')
  for (let i = 0; ; i++) {
    const index = (number + i) % (256 * addressesPerBlock)
    const address = `172.18.${Math.floor(index / addressesPerBlock)}.${(index % addressesPerBlock) + firstInBlock}`
    if (i > 256 * addressesPerBlock || !isUsed(address)) return address
  }
}

/** Addresses of a /24 that pods may have. */
const podsPerBlock = 253

/** Allocates addresses of pods in turn, so that a deleted pod's address is not used again at once. */
export class PodAddresses {
  /** Keys of pods by address. */
  readonly #used: Map<string, string>
  /** Position of the next address, by address of the node. */
  readonly #next = new Map<string, number>()

  constructor(used: Map<string, string>) {
    this.#used = used
  }

  allocate(hostIP: string, podCidr: string | undefined, podKey: string): string {
    const start = (podCidr === undefined ? undefined : firstOf(podCidr)) ?? defaultFirst(hostIP)
    const first = this.#next.get(hostIP) ?? 0
    for (let i = 0; ; i++) {
      // A full /24 is followed by the next one.
      const position = i < podsPerBlock ? (first + i) % podsPerBlock : i
      const address = textOf(start + position)
      if (isReserved(address) || this.#used.has(address)) continue
      this.#used.set(address, podKey)
      this.#next.set(hostIP, (position + 1) % podsPerBlock)
      return address
    }
  }

  release(address: string, podKey: string): void {
    if (this.#used.get(address) === podKey) this.#used.delete(address)
  }
}

const isReserved = (address: string): boolean => address.endsWith('.0') || address.endsWith('.255')

const textOf = (value: number): string => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff].join('.')

/** The second address of an IPv4 CIDR, as a number: the first one is the bridge's. */
function firstOf(cidr: string): number | undefined {
  const octets = (cidr.split('/')[0] ?? '').split('.').map(Number)
  if (octets.length !== 4 || octets.some((octet) => !(octet >= 0 && octet <= 255))) return undefined
  return toNumber(octets) + firstInBlock
}

function defaultFirst(hostIP: string): number {
  const [, , high = 0, low = 0] = hostIP.split('.').map(Number)
  return toNumber([10, 244, (high * addressesPerBlock + low) % 256, firstInBlock])
}

const toNumber = (octets: readonly number[]): number => octets.reduce((sum, octet) => sum * 256 + octet, 0)
