// Creates a service account.

import { defineCommand } from '../command.js'
import { createFlags, createOne } from '../create-one.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'create serviceaccount NAME',
  about: 'create a service account',
  flags: createFlags,
  run: async (work) => {
    const [name, ...more] = work.args
    if (name === undefined || more.length > 0) throw new UsageError(`exactly one NAME is required, got ${work.args.length}`)
    return createOne({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }, work)
  },
})
