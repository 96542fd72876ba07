import type { RequestHandler } from 'express'

/** The parts of an app that docs/http.md and docs/http-reference.md take for granted. */
export const members = (): readonly string[] => ['ann', 'bob']
export const basketOf = (session: object): readonly string[] => Object.keys(session)

export const requireLogin: RequestHandler = (req, res, next) => {
  if (req.headers.cookie === undefined) res.redirect('/login')
  else next()
}
