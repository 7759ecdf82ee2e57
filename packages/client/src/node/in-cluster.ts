// In-cluster configuration: service account files and environment variables of a pod.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import type { ChosenConnection } from '../config/choose-connection.js'

interface InClusterOptions {
  readonly environment?: { readonly [name: string]: string | undefined } | undefined
  /** Parent of the service account folder. Default: `/var/run/secrets`. */
  readonly secrets?: string | undefined
}

const optionNames: OptionNames<InClusterOptions> = { environment: true, secrets: true }

/** Returns undefined outside of a pod, or without a service account token. */
export function inClusterConnection(options: InClusterOptions = {}): ChosenConnection | undefined {
  refuseUnknownOptions('inClusterConnection', options, optionNames)
  const { environment = process.env, secrets = '/var/run/secrets' } = options
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
      // POD_NAMESPACE takes precedence over the namespace file, as in client-go.
      namespace: environment['POD_NAMESPACE'] || (existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : undefined),
      impersonate: undefined,
    }
  }
  return undefined
}
