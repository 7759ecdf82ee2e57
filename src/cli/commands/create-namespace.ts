// Creates a namespace.

import { defineCommand } from '../command.js'
import { createFlags, createOne } from '../create-one.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'create namespace NAME',
  about: 'create a namespace',
  flags: createFlags,
  run: async (work) => {
    const [name, ...more] = work.args
    if (name === undefined || more.length > 0) throw new UsageError(`exactly one NAME is required, got ${work.args.length}`)
    return createOne({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, work)
  },
})
