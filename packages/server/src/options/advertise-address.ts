// The advertised address of this server, and kinds of IP addresses.

import { networkInterfaces } from 'node:os'

/** 127.0.0.0/8 and every notation of `::1`, such as `0:0:0:0:0:0:0:1`; not IPv4-mapped addresses. */
export const isLoopback = (address: string): boolean => /^(?:127\.|[0:]*:0*1$)/.test(address)

export const isUnspecified = (address: string): boolean => /^[0:.]+$/.test(address)

/** The bind address. If it is unspecified or loopback: the machine's first address that is not link-local, IPv4 preferred, or ''. */
export function advertisedFor(bindAddress: string): string {
  if (!isLoopback(bindAddress) && !isUnspecified(bindAddress)) return bindAddress
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const usable = addresses.filter(({ internal, address }) => !internal && !/^(?:169\.254\.|fe80:)/i.test(address))
  return (usable.find(({ family }) => family === 'IPv4') ?? usable[0])?.address ?? ''
}
