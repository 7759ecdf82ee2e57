// Debian's own build of the command line client. It is unpacked and not installed: its package gets in the way of other ones that bring
// a command of the same name, and unpacking needs no rights.

import { type Obtained, obtain, unpackCommand } from './obtaining.js'

const packageName = 'kubernetes-client'

/** Another build of the client can be tried by naming it in the environment. */
export function obtainKubectl(): Promise<Obtained> {
  const chosen = process.env['CLIENTS_KUBECTL']
  return chosen === undefined
    ? obtain('kubectl', () => unpackCommand(packageName, 'kubectl'))
    : Promise.resolve({ path: chosen, skip: false })
}
