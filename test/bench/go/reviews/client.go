package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"syscall"
	"time"
)

const answerDeadline = 10 * time.Second

type task struct {
	review  *review
	number  int
	planned time.Time
}

// client is one connection; its tasks go over it one after the other.
type client struct {
	address       string
	config        *tls.Config
	conn          *tls.Conn
	in            *bufio.Reader
	work          chan task
	out           []byte
	took, planned []int64 // microseconds
	counts        map[string]int
	firstWrong    string
}

func (c *client) connect() error {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", c.address, c.config)
	if err != nil {
		return err
	}
	c.conn, c.in = conn, bufio.NewReaderSize(conn, 64<<10)
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	return nil
}

// pace hands out tasks at a constant rate. Go's timers are good to a millisecond only, which would
// bundle requests that are meant to be spread, so it sleeps in the kernel on a thread of its own.
// When this program itself was held up, it makes up for that at twice the rate, not all at once: it
// shares its core with servers that must not turn the load into one of another shape.
func pace(o options, clients []*client, made []review, begun time.Time) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	total := int(o.length.Seconds() * float64(o.rate))
	last := begun.Add(-time.Second)
	every := time.Second / time.Duration(o.rate)
	for n := range total {
		planned := begun.Add(time.Duration(n) * every)
		due := planned
		if soonest := last.Add(every / 2); soonest.After(due) {
			due = soonest
		}
		for left := time.Until(due); left > 0; left = time.Until(due) {
			wait := syscall.NsecToTimespec(int64(left))
			_ = syscall.Nanosleep(&wait, nil)
		}
		clients[n%len(clients)].work <- task{review: &made[n%len(made)], number: n, planned: planned}
		last = time.Now()
	}
}

func (c *client) serve() {
	for t := range c.work {
		if c.conn == nil {
			if err := c.connect(); err != nil {
				c.fail("error", err)
				continue
			}
		}
		if err := c.exchange(t); err != nil {
			c.fail("error", err)
			_ = c.conn.Close()
			c.conn = nil
		}
	}
}

func (c *client) fail(what string, err error) {
	c.counts[what]++
	if c.firstWrong == "" {
		c.firstWrong = err.Error()
	}
}

func (c *client) exchange(t task) error {
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012x", t.number)
	body := t.review.body
	c.out = fmt.Appendf(c.out[:0], "POST /admit?timeout=2s HTTP/1.1\r\nHost: %s\r\n"+
		"Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: %d\r\n\r\n",
		c.config.ServerName, len(body))
	start := len(c.out)
	c.out = append(c.out, body...)
	copy(c.out[start+t.review.uidAt:], uid)
	sent := time.Now()
	_ = c.conn.SetDeadline(sent.Add(answerDeadline))
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	done := time.Now()
	c.took = append(c.took, done.Sub(sent).Microseconds())
	c.planned = append(c.planned, done.Sub(t.planned).Microseconds())
	if err := judge(t.review, uid, answer.StatusCode, content); err == errNotSynced {
		c.counts["not_synced"]++
	} else if err != nil {
		c.fail("wrong", err)
	} else {
		c.counts[t.review.kind()]++
	}
	if answer.Close {
		return fmt.Errorf("the server closed a kept connection")
	}
	return nil
}

// errNotSynced: left whole because the controller's picture of the cluster is too old, as it is once
// a relist takes more than ten seconds. The answer is right; who asked says whether it was expected.
var errNotSynced = errors.New("left whole: not synced")

// judge says what is wrong with an answer, nil if nothing is.
func judge(r *review, uid string, status int, content []byte) error {
	var got struct {
		Response struct {
			UID       string `json:"uid"`
			Allowed   bool   `json:"allowed"`
			PatchType string `json:"patchType"`
			Patch     []byte `json:"patch"`
			Notes     struct {
				Verdict string `json:"verdict"`
			} `json:"auditAnnotations"`
		} `json:"response"`
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s: status %d: %.200s", r.what, status, content)
	}
	if err := json.Unmarshal(content, &got); err != nil {
		return fmt.Errorf("%s: %w: %.200s", r.what, err, content)
	}
	answer := got.Response
	switch {
	case answer.UID != uid || !answer.Allowed:
		return fmt.Errorf("%s: wants uid %s, allowed; got %.200s", r.what, uid, content)
	case r.tenant && answer.Notes.Verdict == "NotSynced" && len(answer.Patch) == 0:
		return errNotSynced
	case r.tenant && (answer.PatchType != "JSONPatch" || !bytes.Contains(answer.Patch, []byte("aliquot.dev"))):
		return fmt.Errorf("%s: wants a patch; got %.300s", r.what, content)
	case !r.tenant && len(answer.Patch) > 0:
		return fmt.Errorf("%s: wants no patch; got %.300s", r.what, answer.Patch)
	}
	return nil
}
