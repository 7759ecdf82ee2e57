// The configuration of the plugins that call webhooks: the file with what they say to show who they are.

import { dirname, resolve } from 'node:path'
import type { ConfigContext } from './admission-config.js'
import { checkKind, mappingOf, textOf } from './fields.js'

export interface WebhookSettings {
  readonly kubeConfigFile?: string
}

const kinds = [
  { kind: 'WebhookAdmissionConfiguration', group: { stem: 'apiserver.config' }, versions: ['v1'] },
  { kind: 'WebhookAdmission', group: { stem: 'apiserver.config' }, versions: ['v1alpha1'] },
]

export function parseWebhookSettings(value: unknown, { identity, where, file }: ConfigContext): WebhookSettings {
  const fields = mappingOf(value, where)
  checkKind(fields, kinds, { identity, where, known: ['kubeConfigFile'] })
  const path = textOf(fields, 'kubeConfigFile', where) ?? ''
  return path === '' ? {} : { kubeConfigFile: resolve(dirname(file), path) }
}
