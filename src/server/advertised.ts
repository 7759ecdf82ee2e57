// What the server tells others about itself: the address under which it is found, and whom it trusts.

import { networkInterfaces } from 'node:os'
import type { AuthenticationSettings } from './options/settings.js'

/** However it is spelled: `::1` and `0:0:0:0:0:0:0:1` are the same. */
export const isLoopback = (address: string): boolean => /^(?:127\.|[0:]*:0*1$)/.test(address)

/** However it is spelled: `::` and `0:0:0:0:0:0:0:0` are the same. */
export const isUnspecified = (address: string): boolean => /^[0:.]+$/.test(address)

/** The address that it listens at, or where that says nothing to others the first one of this machine; empty: there is none. */
export function advertisedFor(bindAddress: string): string {
  if (!isLoopback(bindAddress) && !isUnspecified(bindAddress)) return bindAddress
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const usable = addresses.filter(({ internal, address }) => !internal && !/^(?:169\.254\.|fe80:)/i.test(address))
  return (usable.find(({ family }) => family === 'IPv4') ?? usable[0])?.address ?? ''
}

/** Under the names that extension servers look for. */
export function trustedOf({ clientCa, requestHeader }: Pick<AuthenticationSettings, 'clientCa' | 'requestHeader'>): {
  readonly [name: string]: string
} {
  return {
    ...(clientCa === undefined ? {} : { 'client-ca-file': clientCa }),
    ...(requestHeader === undefined
      ? {}
      : {
          'requestheader-allowed-names': JSON.stringify(requestHeader.allowedNames),
          'requestheader-client-ca-file': requestHeader.ca,
          'requestheader-extra-headers-prefix': JSON.stringify(requestHeader.extraHeaderPrefixes),
          'requestheader-group-headers': JSON.stringify(requestHeader.groupHeaders),
          'requestheader-username-headers': JSON.stringify(requestHeader.usernameHeaders),
        }),
  }
}
