// Divides the limits of the machine between its workers: connections are spread evenly, so are requests.

import type { Settings } from '../../options/settings.js'

/** 0: no limit. */
const share = (limit: number, workers: number): number => (limit === 0 ? 0 : Math.max(1, Math.ceil(limit / workers)))

/** Settings of one worker. */
export function workerSettings(settings: Settings): Settings {
  const { limits, admission, workers } = settings
  return {
    ...settings,
    workerThreads: share(settings.workerThreads, workers),
    limits: {
      ...limits,
      readingInFlight: share(limits.readingInFlight, workers),
      mutatingInFlight: share(limits.mutatingInFlight, workers),
      watches: share(limits.watches, workers),
    },
    admission: {
      ...admission,
      config: {
        ...admission.config,
        eventRateLimits: admission.config.eventRateLimits.map((limit) => ({
          ...limit,
          qps: share(limit.qps, workers),
          burst: share(limit.burst, workers),
        })),
      },
    },
  }
}
