// How other servers that answer for a part of the API are reached.

import { readPair } from './read-pair.js'
import type { SettingsInput } from './read-settings.js'
import type { AggregationSettings } from './settings.js'

export function readAggregation(input: SettingsInput): AggregationSettings {
  const { values } = input
  return {
    toEndpoints: values['enable-aggregator-routing'],
    rejectsRedirects: values['aggregator-reject-forwarding-redirect'],
    clientFiles: readPair(input, 'proxy-client-cert-file', 'proxy-client-key-file')?.files,
  }
}
