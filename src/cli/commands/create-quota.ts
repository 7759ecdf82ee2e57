// Creates a quota of a namespace.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn, pairsIn } from '../create-one.js'

export const command = defineCommand({
  usage: 'create quota NAME [--hard=RESOURCE=AMOUNT,…] [--scopes=SCOPE,…]',
  about: 'create a quota',
  examples: ['create quota few --hard=pods=10,requests.cpu=4', 'create quota best-effort --hard=pods=100 --scopes=BestEffort'],
  flags: {
    ...createFlags,
    hard: { kind: 'list', help: 'how much of what there may be' },
    scopes: { kind: 'list', help: 'which objects count' },
  },
  run: async (work) => {
    const { flags, args } = work
    const spec = {
      ...(flags.hard.length === 0 ? {} : { hard: pairsIn('hard', flags.hard) }),
      ...(flags.scopes.length === 0 ? {} : { scopes: flags.scopes }),
    }
    return createOne({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: nameIn(args) }, spec }, work)
  },
})
