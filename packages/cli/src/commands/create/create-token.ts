// `create token`: TokenRequest of a service account.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { durationMs, type FlagTable, UsageError } from '../../command-line/flags.js'
import { outputOf, printFlags } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'

const flags = {
  duration: { kind: 'text', help: 'lifetime of the token, such as 1h' },
  audience: { kind: 'texts', help: 'audience of the token; may be repeated' },
  'bound-object-kind': { kind: 'text', help: 'Pod or Secret that the token is bound to' },
  'bound-object-name': { kind: 'text', help: 'name of the bound object' },
  'bound-object-uid': { kind: 'text', help: 'UID of the bound object' },
  ...printFlags,
} as const satisfies FlagTable

export const command = defineCommand({
  usage: 'create token SERVICEACCOUNT [flags]',
  examples: ['create token robot --duration=1h'],
  flags,
  run: async ({ args, flags: flagValues, session, io }) => {
    const [name, ...extraArgs] = args
    if (name === undefined || extraArgs.length > 0) throw new UsageError(`exactly one service account name is required, got ${args.length}`)
    const kind = flagValues['bound-object-kind']
    for (const flag of ['bound-object-name', 'bound-object-uid'] as const)
      if (kind === undefined && flagValues[flag] !== undefined)
        throw new UsageError(`--${flag} can only be set if --bound-object-kind is provided`)
    if (kind !== undefined && !['Pod', 'Secret'].includes(kind))
      throw new UsageError('supported --bound-object-kind values are Pod, Secret')
    if (kind !== undefined && flagValues['bound-object-name'] === undefined)
      throw new UsageError('--bound-object-name is required if --bound-object-kind is provided')
    const seconds = flagValues.duration === undefined ? undefined : durationMs('duration', flagValues.duration) / 1000
    if (seconds !== undefined && seconds < 0) throw new UsageError('--duration must be positive')
    if (seconds !== undefined && !Number.isInteger(seconds))
      throw new UsageError('--duration cannot be expressed in units less than seconds')
    const identity = await session.resources.identity()
    const request = {
      apiVersion: `${identity.group({ stem: 'authentication' })}/v1`,
      kind: 'TokenRequest',
      spec: {
        ...(flagValues.audience.length === 0 ? {} : { audiences: flagValues.audience }),
        ...(seconds === undefined || seconds === 0 ? {} : { expirationSeconds: seconds }),
        ...(kind === undefined
          ? {}
          : {
              boundObjectRef: { kind, apiVersion: 'v1', name: flagValues['bound-object-name'] ?? '', uid: flagValues['bound-object-uid'] },
            }),
      },
    }
    const accounts = session.client.collection(
      { group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
      session.namespace,
    )
    const tokenRequest = await accounts.subresource('token').createFor<DynamicObject>(name, request)
    if (outputOf(flagValues) !== '') io.out(printerFor({ flags: flagValues, nameOf: () => name }).print([tokenRequest], false))
    else io.out(`${(tokenRequest['status'] as { readonly token: string }).token}\n`)
    return 0
  },
})
