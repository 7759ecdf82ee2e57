// Creates a class of priorities of pods.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'

export const command = defineCommand({
  usage: 'create priorityclass NAME --value=NUMBER [--description=TEXT] [--global-default] [--preemption-policy=Never]',
  about: 'create a class of priorities',
  examples: ['create priorityclass high --value=1000 --description="before all others"'],
  flags: {
    ...createFlags,
    value: { kind: 'number', initial: '0', help: 'the higher, the earlier' },
    description: { kind: 'text', help: 'when it is meant to be used' },
    'global-default': { kind: 'switch', help: 'for pods that name none' },
    'preemption-policy': { kind: 'text', initial: 'PreemptLowerPriority', help: 'PreemptLowerPriority or Never' },
  },
  run: async (work) => {
    const { flags, args, session } = work
    const group = (await session.resources.identity()).group({ stem: 'scheduling' })
    return createOne(
      {
        apiVersion: `${group}/v1`,
        kind: 'PriorityClass',
        metadata: { name: nameIn(args) },
        ...(flags.description === undefined ? {} : { description: flags.description }),
        ...(flags['global-default'] ? { globalDefault: true } : {}),
        preemptionPolicy: flags['preemption-policy'],
        value: flags.value ?? 0,
      },
      work,
    )
  },
})
