// `auth whoami`: shows the authenticated user by SelfSubjectReview.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { alignRows, headerRow } from '../../output/columns.js'
import { outputOf, printFlags } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'

interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

export const command = defineCommand({
  usage: 'auth whoami [-o json|yaml]',
  flags: { ...printFlags },
  takesNoArguments: true,
  run: async ({ flags, session, io }) => {
    const { resources } = await session.resources.all()
    const served = resources.find(({ resource }) => resource === 'selfsubjectreviews')
    if (served === undefined)
      throw new CommandError(
        'the server does not serve selfsubjectreviews; release 1.26 does with --feature-gates=APISelfSubjectReview=true and --runtime-config of its API version',
      )
    const apiVersion = `${served.group}/${served.version}`
    const review = await session.client.collection(served).create({ apiVersion, kind: served.kind })
    if (outputOf(flags) !== '') {
      io.out(printerFor({ flags, nameOf: () => '' }).print([review], false))
      return 0
    }
    const { userInfo = {} } = ((review as DynamicObject)['status'] ?? {}) as { readonly userInfo?: UserInfo }
    const rows = [
      ['Username', userInfo.username ?? ''],
      ...(userInfo.uid === undefined ? [] : [['UID', userInfo.uid]]),
      ...(userInfo.groups === undefined ? [] : [['Groups', `[${userInfo.groups.join(' ')}]`]]),
      ...Object.entries(userInfo.extra ?? {}).map(([key, values]) => [`Extra: ${key}`, `[${values.join(' ')}]`]),
    ]
    io.out(alignRows([headerRow(['ATTRIBUTE', 'VALUE'], io.style), ...rows]))
    return 0
  },
})
