// Asks for a token of a service account.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { durationMs, type FlagTable, UsageError } from '../flags.js'
import { outputOf, printFlags } from '../output/print-flags.js'
import { printerFor } from '../output/printer.js'

const flags = {
  duration: { kind: 'text', help: 'for how long, such as 1h' },
  audience: { kind: 'texts', help: 'for whom' },
  'bound-object-kind': { kind: 'text', help: 'Pod or Secret: the token ends with that object' },
  'bound-object-name': { kind: 'text', help: 'its name' },
  'bound-object-uid': { kind: 'text', help: 'its uid' },
  ...printFlags,
} as const satisfies FlagTable

export const command = defineCommand({
  usage: 'create token SERVICEACCOUNT [flags]',
  about: 'ask for a token of a service account',
  examples: ['create token robot --duration=1h'],
  flags,
  run: async ({ args, flags: given, session, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError(`exactly one service account name is required, got ${args.length}`)
    const kind = given['bound-object-kind']
    for (const flag of ['bound-object-name', 'bound-object-uid'] as const)
      if (kind === undefined && given[flag] !== undefined)
        throw new UsageError(`--${flag} can only be set if --bound-object-kind is provided`)
    if (kind !== undefined && !['Pod', 'Secret'].includes(kind))
      throw new UsageError('supported --bound-object-kind values are Pod, Secret')
    if (kind !== undefined && given['bound-object-name'] === undefined)
      throw new UsageError('--bound-object-name is required if --bound-object-kind is provided')
    const seconds = given.duration === undefined ? undefined : durationMs('duration', given.duration) / 1000
    if (seconds !== undefined && seconds < 0) throw new UsageError('--duration must be positive')
    if (seconds !== undefined && !Number.isInteger(seconds))
      throw new UsageError('--duration cannot be expressed in units less than seconds')
    const identity = await session.resources.identity()
    const request = {
      apiVersion: `${identity.group({ stem: 'authentication' })}/v1`,
      kind: 'TokenRequest',
      spec: {
        ...(given.audience.length === 0 ? {} : { audiences: given.audience }),
        ...(seconds === undefined || seconds === 0 ? {} : { expirationSeconds: seconds }),
        ...(kind === undefined
          ? {}
          : { boundObjectRef: { kind, apiVersion: 'v1', name: given['bound-object-name'] ?? '', uid: given['bound-object-uid'] } }),
      },
    }
    const accounts = session.client.collection(
      { group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
      session.namespace,
    )
    const answer = await accounts.subresource('token').createFor<DynamicObject>(name, request)
    if (outputOf(given) !== '') io.out(printerFor({ flags: given, nameOf: () => name }).print([answer], false))
    else io.out(`${(answer['status'] as { readonly token: string }).token}\n`)
    return 0
  },
})
