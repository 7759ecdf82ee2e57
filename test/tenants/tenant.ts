// The users of a run: tenants with a token or a client certificate each, and the system, whose Secrets no tenant may see.

import { FlagFiles, newAuthority, newClient } from '../../packages/server/test/security/make-pki.js'
import type { Certificate } from './connection.js'
import { newMark } from './marks.js'

export interface Tenant {
  /** One letter, part of the mark and of every request id. */
  readonly char: string
  readonly mark: string
  readonly user: string
  readonly namespace: string
  /** Undefined: the client certificate authenticates. */
  readonly token: string | undefined
  readonly certificate: Certificate | undefined
}

export interface Users {
  readonly tenants: readonly Tenant[]
  /** Administrator whose objects carry the mark that no tenant may see. */
  readonly system: Tenant
  readonly flags: readonly string[]
  readonly removeFiles: () => void
}

export const systemNamespace = 'cluster-system'
const systemToken = 'token-of-the-system'

export function makeUsers(seed: number, count: number): Users {
  const files = new FlagFiles()
  const authority = newAuthority('tenants')
  const tenants = Array.from({ length: count }, (_, index): Tenant => {
    const char = String.fromCharCode(0x61 + index)
    const mark = newMark(seed, char)
    const user = `user-${mark}`
    const isCertified = index % 2 === 1
    return {
      char,
      mark,
      user,
      namespace: `tenant-${char}`,
      token: isCertified ? undefined : `token-${mark}`,
      certificate: isCertified ? newClient(authority, user, { organizations: [`group-${mark}`] }) : undefined,
    }
  })
  const mark = newMark(seed, 'z')
  const system = { char: 'z', mark, user: 'system-user', namespace: systemNamespace, token: systemToken, certificate: undefined }
  const rows = tenants.flatMap((each) =>
    each.token === undefined ? [] : `${each.token},${each.user},uid-${each.mark},group-${each.mark}\n`,
  )
  const tokenFile = files.write('tokens.csv', [...rows, `${systemToken},${system.user},system-uid,system:masters\n`].join(''))
  // Without its controller, only evictions change a disruption budget.
  const flags = [
    '--controllers=*,-disruption',
    `--token-auth-file=${tokenFile}`,
    `--client-ca-file=${files.write('ca.crt', authority.cert)}`,
  ]
  return { tenants, system, flags, removeFiles: () => files.remove() }
}
