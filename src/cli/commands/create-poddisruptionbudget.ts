// Creates a budget for disruptions of pods.

import { compileLabelSelector } from '../../api/label-selector.js'
import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn, numberOrText, pairsIn } from '../create-one.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'create poddisruptionbudget NAME --selector=LABELS (--min-available=N | --max-unavailable=N)',
  about: 'create a budget for disruptions',
  examples: ['create pdb web --selector=app=web --min-available=50%'],
  flags: {
    ...createFlags,
    selector: { kind: 'text', help: 'which pods: a=b,c=d' },
    'min-available': { kind: 'text', help: 'how many must stay: a number, or a share such as 50%' },
    'max-unavailable': { kind: 'text', help: 'how many may be gone' },
  },
  run: async (work) => {
    const { flags, args } = work
    const name = nameIn(args)
    const { selector, 'min-available': least, 'max-unavailable': most } = flags
    if (selector === undefined || selector === '') throw new UsageError('a selector must be specified')
    if (least === undefined && most === undefined) throw new UsageError('one of min-available or max-unavailable must be specified')
    if (least !== undefined && most !== undefined) throw new UsageError('min-available and max-unavailable cannot be both specified')
    const amount = least === undefined ? { maxUnavailable: numberOrText(most ?? '') } : { minAvailable: numberOrText(least) }
    compileLabelSelector(selector)
    const spec = { ...amount, selector: { matchLabels: pairsIn('selector', selector.replaceAll('==', '=').split(',')) } }
    return createOne({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }, work)
  },
})
