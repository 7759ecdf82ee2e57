// Creates a cron job of one image.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn, needed } from '../create-one.js'
import { jobSpec } from './create-job.js'

export const command = defineCommand({
  usage: 'create cronjob NAME --image=IMAGE --schedule="0 3 * * *" [--restart=OnFailure|Never] [-- COMMAND…]',
  about: 'create a cron job',
  examples: ['create cronjob nightly --image=busybox --schedule="0 3 * * *" -- date'],
  flags: {
    ...createFlags,
    image: { kind: 'text', help: 'the image of its container' },
    schedule: { kind: 'text', help: 'when it runs: minute, hour, day, month, day of the week' },
    restart: { kind: 'text', initial: 'OnFailure', help: 'what happens when it fails: OnFailure or Never' },
  },
  run: async (work) => {
    const { args, flags, rest } = work
    const name = nameIn(args)
    const schedule = needed('schedule', flags.schedule)
    const spec = jobSpec(name, needed('image', flags.image), rest, flags.restart)
    const whole = { jobTemplate: { metadata: { name }, spec }, schedule }
    return createOne({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name }, spec: whole }, work)
  },
})
