// Interface to a port that another process has opened: it hands its connections over.

import type { Socket } from 'node:net'

export interface ConnectionSource {
  readonly address: string
  readonly port: number
  begin(accept: (socket: Socket) => void): void
  /** No further connection is handed over. */
  end(): void
}
