// Routes of the control API that read and move the clock of the server.

import type { EmbeddedServer } from '../../running-server.js'
import { ControlError, orRefuse } from './control-error.js'
import { fieldsOf, type Route } from './route.js'

const timeOf = ({ clock }: EmbeddedServer) => ({ now: clock.now() })

export const clockRoutes: readonly Route[] = [
  { method: 'GET', path: '/clock', summary: 'the time of the server', run: ({ server }) => timeOf(server) },
  {
    method: 'POST',
    path: '/clock/advance',
    summary: 'moves the time by a duration, and runs the timers that are due meanwhile',
    run: async ({ server }, request) => {
      const { by } = fieldsOf(request, ['by'])
      if (typeof by !== 'string' && typeof by !== 'number') throw new ControlError(400, '"by" must be milliseconds or text such as "1h30m"')
      await orRefuse(() => server.clock.advance(by))
      return timeOf(server)
    },
  },
  {
    method: 'POST',
    path: '/clock/set',
    summary: 'moves the time forward to a point in time',
    run: async ({ server }, request) => {
      const { to } = fieldsOf(request, ['to'])
      if (typeof to !== 'string') throw new ControlError(400, '"to" must be a time such as "2030-01-31T12:00:00Z"')
      await orRefuse(() => server.clock.set(to))
      return timeOf(server)
    },
  },
]
