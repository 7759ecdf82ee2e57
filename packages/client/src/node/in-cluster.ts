// The configuration of a program that runs in a pod: what the kubelet puts there, in either vocabulary.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityNames, identityOf } from '../../api/identity.js'
import { type OptionNames, refuseUnknownOptions } from '../../base/known-options.js'
import type { ChosenConnection } from '../config/choose-connection.js'

export interface PodSurroundings {
  readonly environment?: { readonly [name: string]: string | undefined } | undefined
  /** Below which the folder of secrets lies; by default `/var/run/secrets`. */
  readonly secrets?: string | undefined
}

const names: OptionNames<PodSurroundings> = { environment: true, secrets: true }

/** Undefined where this is no pod, or one without a service account. */
export function inClusterConnection(surroundings: PodSurroundings = {}): ChosenConnection | undefined {
  refuseUnknownOptions('inClusterConnection', surroundings, names)
  const { environment = process.env, secrets = '/var/run/secrets' } = surroundings
  for (const name of identityNames) {
    const { self, label } = identityOf(name)
    const host = environment[`${self.toUpperCase()}_SERVICE_HOST`] ?? ''
    const port = environment[`${self.toUpperCase()}_SERVICE_PORT`] ?? ''
    const folder = join(secrets, label('serviceaccount'))
    const tokenFile = join(folder, 'token')
    if (host === '' || port === '' || !existsSync(tokenFile)) continue
    const ca = join(folder, 'ca.crt')
    const namespaceFile = join(folder, 'namespace')
    return {
      context: '',
      cluster: {
        server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
        ...(existsSync(ca) ? { 'certificate-authority': ca } : {}),
      },
      user: { tokenFile },
      userName: '',
      // What the pod was told goes before what its token is for, as with clients of the original.
      namespace: environment['POD_NAMESPACE'] || (existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : undefined),
      impersonate: undefined,
    }
  }
  return undefined
}
