// Obtains kubectl from Debian. The package is unpacked, not installed: that needs no root and conflicts with no other kubectl.

import { type Obtained, obtain, unpackCommand } from './obtain.js'

const packageName = 'kubernetes-client'

/** CLIENTS_KUBECTL names another binary. */
export function obtainKubectl(): Promise<Obtained> {
  const chosen = process.env['CLIENTS_KUBECTL']
  return chosen === undefined
    ? obtain('kubectl', () => unpackCommand(packageName, 'kubectl'))
    : Promise.resolve({ path: chosen, skip: false })
}
