// The type of a filter: one step of the request pipeline, such as authentication. Filters run in order until one has responded.

import type { Exchange } from './exchange.js'

/** True if the response was sent, which ends the pipeline. */
export type Handled = boolean
export type Filter = (exchange: Exchange) => Handled | Promise<Handled>
