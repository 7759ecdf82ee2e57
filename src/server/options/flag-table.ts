// Every flag of the server in one table: what is not here is an unknown flag.

import type { FlagDefinition, FlagGroup, FlagValue } from './flag.js'
import { admissionFlags } from './flags/admission.js'
import { aggregationFlags } from './flags/aggregation.js'
import { apiFlags } from './flags/api.js'
import { authenticationFlags } from './flags/authentication.js'
import { authorizationFlags } from './flags/authorization.js'
import { observabilityFlags } from './flags/observability.js'
import { requestFlags } from './flags/requests.js'
import { servingFlags } from './flags/serving.js'
import { signingFlags } from './flags/signing.js'
import { storageFlags } from './flags/storage.js'

const generalFlags = [
  { name: 'help', kind: 'boolean', default: 'false', effect: 'now', help: 'say all this, and end' },
  { name: 'version', kind: 'boolean', default: 'false', effect: 'now', help: 'say the version, and end' },
] as const satisfies readonly FlagDefinition[]

export const flagGroups = [
  { title: 'Serving', flags: servingFlags },
  { title: 'Storage', flags: storageFlags },
  { title: 'API', flags: apiFlags },
  { title: 'Extension servers', flags: aggregationFlags },
  { title: 'Requests and shutdown', flags: requestFlags },
  { title: 'Authentication', flags: authenticationFlags },
  { title: 'Certificates for others', flags: signingFlags },
  { title: 'Authorization', flags: authorizationFlags },
  { title: 'Admission', flags: admissionFlags },
  { title: 'Logs, audit, metrics', flags: observabilityFlags },
  { title: 'General', flags: generalFlags },
] as const satisfies readonly FlagGroup[]

type Flag = (typeof flagGroups)[number]['flags'][number]

export type FlagName = Flag['name']

export const allFlags: readonly FlagDefinition[] = flagGroups.flatMap((group): readonly FlagDefinition[] => group.flags)

/** What a command line says, defaults filled in. */
export type FlagValues = { readonly [F in Flag as F['name']]: FlagValue<F> }
