// How other servers that answer for a part of the API are reached.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { AggregationSettings } from './settings.js'

export function readAggregation({ values, files }: SettingsInput): AggregationSettings {
  const certFile = values['proxy-client-cert-file']
  const keyFile = values['proxy-client-key-file']
  if (certFile !== undefined && keyFile === undefined) throw flagError('proxy-client-cert-file', 'needs --proxy-client-key-file, too')
  if (keyFile !== undefined && certFile === undefined) throw flagError('proxy-client-key-file', 'needs --proxy-client-cert-file, too')
  const common = { toEndpoints: values['enable-aggregator-routing'], rejectsRedirects: values['aggregator-reject-forwarding-redirect'] }
  if (certFile === undefined || keyFile === undefined) return { ...common, clientFiles: undefined }
  const isPair = new X509Certificate(files.get(certFile) ?? '').checkPrivateKey(createPrivateKey(files.get(keyFile) ?? ''))
  if (!isPair) throw flagError('proxy-client-key-file', `the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  return { ...common, clientFiles: { certFile: resolve(certFile), keyFile: resolve(keyFile) } }
}
